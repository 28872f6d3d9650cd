"""Any container of rows in, one `TaskTable` out: what every measurement is a function of."""
