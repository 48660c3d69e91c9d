"""The study of the original reports: train what they trained, at a scale two cores can carry; write what came out."""
