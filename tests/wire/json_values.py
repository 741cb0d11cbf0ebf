"""Any JSON value, as `json.loads` would give it: lone surrogates and big integers included."""

from hypothesis import strategies as st

texts = st.text(st.characters(exclude_categories=())) | st.sampled_from(
    ["\ud800", "a\udfff", "\u2028", "\u2029\x85", "\x0c\x1c", "\x00", "\ufeff", "日本", "😀"]
)
"""`st.text()` leaves surrogates out."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=5),
    max_leaves=20,
)
