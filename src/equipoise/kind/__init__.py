"""One record per kind of data: images, interactions. The only place that tells them apart."""
