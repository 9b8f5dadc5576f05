"""The pure core: rules, perfect play, opponents, the referee and the formulas."""
