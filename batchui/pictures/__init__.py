"""Pictures for models that see: found, made small, and ready to be sent. No Django.

    fetching    an address in a cell -> bytes, from public hosts alone
                (addresses reads it; public says who is public; connecting opens the connection)
    packed      a name in a cell -> bytes of a member of a zip
    scaling     bytes -> a small JPEG or PNG, of a known largest size
                (jpeg says what a photo will take; pretenders, what is no picture)

Whatever cannot be had raises `problems.NoPicture`. Its text is a sentence for the page. Everything
that is read here comes from strangers: each read has a limit, and each wait an end.
"""
