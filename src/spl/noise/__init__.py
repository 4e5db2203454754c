"""How data scatters around a law: noise models, weights of rows, likelihoods, own losses."""
