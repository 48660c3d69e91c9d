"""One record per kind of data: images, interactions, tabular rows. The only place that tells them apart."""
