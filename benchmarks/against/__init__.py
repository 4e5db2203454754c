"""Other tools on the same problems, data, time limit and rule of recovery as ours."""
