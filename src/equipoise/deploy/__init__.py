"""A trained model leaves its run: as a module, as a folder of plain PyTorch, as ONNX."""
