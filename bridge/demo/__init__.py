"""The offline tour: a scripted Messages API on loopback and a client that plays a person."""
