"""Tables: their texts and data, their formats, and the tables of each subject."""
