// Search needs a worker, which browsers refuse to pages that are opened as files. Then its script runs in a hidden
// frame instead. Pages that come from a server keep their worker.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        this.frame.onload = () => resolve(this.frame.contentWindow);
      });
      this.frame.srcdoc = `<!doctype html><title>search</title><script src="${script}"><\/script>`;
      document.documentElement.appendChild(this.frame);
      this.ready.then((inside) => {
        inside.postMessage = (data) => this.answer(data);
        inside.importScripts = (...scripts) => scripts.reduce((before, next) => before.then(() => load(inside, next)), Promise.resolve());
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    terminate() {
      this.frame.remove();
    }
  };
}

function load(inside, script) {
  return new Promise((resolve, reject) => {
    const element = inside.document.createElement("script");
    Object.assign(element, { src: script, onload: resolve, onerror: reject });
    inside.document.body.appendChild(element);
  });
}
