"""The methods of ACP v1: what each reads, and which session it is for."""
