"""Tests of the bridge, part by part."""
