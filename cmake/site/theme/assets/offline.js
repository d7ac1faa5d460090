/* Browsers start no worker from a file: there one is a hidden frame, which speaks as a worker does. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.appendChild(frame);
      this.frame = frame.contentWindow;
      this.waiting = [];
      window.addEventListener("message", (event) => {
        if (event.source !== this.frame) return;
        const message = new MessageEvent("message", { data: event.data });
        if (this.onmessage) this.onmessage(message);
        this.dispatchEvent(message);
      });
      const document_ = this.frame.document;
      document_.open();
      document_.write("<script>postMessage = (data) => parent.postMessage(data, '*');</" + "script>");
      const script = document_.createElement("script");
      script.src = url;
      script.onload = () => {
        const sent = this.waiting;
        this.waiting = null;
        sent.forEach((data) => this.postMessage(data));
      };
      document_.head.appendChild(script);
      document_.close();
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else this.frame.dispatchEvent(new MessageEvent("message", { data, source: window }));
    }
    terminate() {}
  };
