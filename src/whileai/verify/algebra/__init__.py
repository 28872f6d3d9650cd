"""Reading and comparing answers in mathematics; used by `whileai.verify.math_equal` and its worker."""
