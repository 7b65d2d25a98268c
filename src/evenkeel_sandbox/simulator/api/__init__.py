"""The API server: objects, versions, patches, selectors, admission, eviction, watches."""
