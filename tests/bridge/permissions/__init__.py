"""Tests of what a permission request shows and what each answer does."""
