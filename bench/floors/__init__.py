"""The storm with floors and without room for a replacement: what stands is the floors."""
