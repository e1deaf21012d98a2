"""Labels of rows, and rounds of local moves between communities, on the device."""
