"""Trained models outside Equipoise: a PyTorch module, a folder of plain PyTorch, an ONNX file."""
