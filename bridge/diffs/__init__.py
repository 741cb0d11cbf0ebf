"""File changes: standard diffs, exact git patches, previews before an approval."""
