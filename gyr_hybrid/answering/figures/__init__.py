"""Numbers, amounts, units, rates, dates, codes: found in a text and compared."""
