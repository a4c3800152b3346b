"""The only room that creates, replaces or deletes files.

A path that a user has named is taken as it is: links on the way to it are the user's own. Below it, in a folder that is
topoi's to fill, a link leads nowhere that topoi would write to or delete: folders from strangers are opened here.

    inside      single steps in a folder: open, make, rename, remove; a link is never followed
    whole       files that are written whole or not at all
    remote      objects in object stores, which have no folders and no links
    anywhere    what is done in folders, be they on a disk or in a store
    published   folders in object stores: objects, and a manifest of them, which comes last
    cache       copies of objects on this machine
    blocks      files that several tasks fill, each its part
    folders     folders that are made, checked and cleared, by the names that topoi gives
    locks       one process at a time fills a folder
    private     the folder of the compile cache, which nobody else can write to
    safetensors arrays in a file

`tests/disk/test_disk_lint.py` sees to it that no other module does any of this.
"""
