"""Whether an eviction that somebody asks for may pass, or its pod's replacement comes first."""
