"""Checks of scikit-learn that fail by a fault of their own, in versions that we support."""

from __future__ import annotations

import sklearn
from sklearn.utils.fixes import parse_version

# It subtracts a mean from whole numbers in place, which NumPy refuses, before it asks the estimator anything.
FAULTY_CHECKS = (
    {"check_positive_only_tag_during_fit": "scikit-learn before 1.7.1 cannot make its input"}
    if parse_version(sklearn.__version__) < parse_version("1.7.1")
    else {}
)
