//! Histories and verdicts: is this recorded history linearizable for a bag, a queue, a stack?
