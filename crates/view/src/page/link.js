// The connection to the server; it reconnects automatically.

class Link {
  constructor(onSnapshot, onNotice, onState) {
    this.onSnapshot = onSnapshot;
    this.onNotice = onNotice;
    this.onState = onState;
    this.wait = 250;
    this.open();
  }

  open() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    this.socket = new WebSocket(`${scheme}://${location.host}/`, "timeloom.view.v1");
    this.socket.onopen = () => { this.wait = 250; this.onState(true); };
    this.socket.onmessage = (event) => this.hear(JSON.parse(event.data));
    this.socket.onclose = () => {
      this.onState(false);
      setTimeout(() => this.open(), this.wait);
      this.wait = Math.min(this.wait * 2, 4000);
    };
  }

  hear(message) {
    if (message.op === "snapshot") this.onSnapshot(message);
    else if (message.op === "status") this.onNotice(message.message, message.id);
    else if (message.op === "removeStatus") message.statusIds.forEach((id) => this.onNotice(null, id));
  }

  send(request) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(request));
  }
}
