import http from 'k6/http';
import grpc from 'k6/net/grpc';
import { WebSocket } from 'k6/websockets';

const workers = +__ENV.WORKERS;
const iterations = +__ENV.ITERATIONS;

export const options = {
  scenarios: { work: { executor: __ENV.EXECUTOR, vus: workers, iterations, exec: __ENV.FUNCTION } },
};

const client = new grpc.Client();
client.load(['.'], 'lie.proto');

let connected = false;

export function callHttp() {
  http.post(__ENV.TARGET, 'hello');
  http.get(__ENV.TARGET);
}

export function callGrpc() {
  if (!connected) client.connect(__ENV.TARGET, { plaintext: true });
  connected = true;
  client.invoke('lie.S/Echo', { text: 'hello' });
  client.invoke('lie.S/Echo', { text: '' });
}

// One call is a session with two messages.
export function callWebSocket() {
  const socket = new WebSocket(__ENV.TARGET);
  let echoes = 0;
  socket.onopen = () => socket.send('hello');
  socket.onmessage = () => {
    echoes += 1;
    if (echoes === 1) socket.send(new Uint8Array(6).buffer);
    else socket.close();
  };
}
