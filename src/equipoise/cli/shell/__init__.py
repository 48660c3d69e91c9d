"""What a shell offers at TAB. Nothing here loads torch; what has to be computed is kept in a file of the cache.

offers   the callbacks of arguments and options      settings   keys, and values of keys
table    everything that can be named, computed      kept       the same, from the cache
bash     bash cuts words at "=", which is undone
"""
