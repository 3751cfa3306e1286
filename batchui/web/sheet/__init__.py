"""The sheet: the page of a started batch. Her rows, and the answers beside them."""
