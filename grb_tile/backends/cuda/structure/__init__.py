"""Building, converting and moving entries on the device."""
