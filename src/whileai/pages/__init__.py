"""The page that `wai.report` writes. The room is not called ``report``, where the function of that name stands."""
