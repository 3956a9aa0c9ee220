"""Training: settings, learner, checkpoints, the loop and what it shows."""
