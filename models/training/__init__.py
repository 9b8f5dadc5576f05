"""The recipe of our own checkpoints, on a CPU: a tiny Llama from nothing, by SFT and by RL.

    a TOML file ──> settings ──> supervised (base, sft) ──┐
                             └─> reinforce (rl) ──────────┼─> run folder ──> gguf_file ──> arena
                                   │ plays by             │   state, curve
                                   └─> rollouts           └─> network, tokens

Games are the arena's: `rollouts` seats the weights as an ordinary `models.player.ModelPlayer`,
asked with the arena's prompt format, read by its reader, refereed by `arena.match`, and many games
share one forward pass. Only this package imports torch, and only its modules that compute do:
settings and curves can be read without it.
"""
