"""Word–topic and document–topic counts, in the layouts that samplers want."""
