"""Whether memory helps: dialogues in which a right answer needs what a person has defined before."""
