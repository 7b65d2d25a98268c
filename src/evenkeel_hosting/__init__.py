"""Below what runs without Lambda: how the functions are loaded, their events, and a thread."""
