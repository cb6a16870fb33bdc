"""The planes of `journal_flow`, for `resumption`."""
