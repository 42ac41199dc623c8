import grpc from 'k6/net/grpc';
const client = new grpc.Client();
const { load, connect, invoke } = client;
load([__ENV.CERTS], 'cases.proto');
export default function () {
  connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  console.log(invoke('cases.Cases/EchoWord', { text: 'a' }).message.text);
  const copy = { ...client };
  console.log(copy.invoke('cases.Cases/EchoWord', { text: 'b' }).message.text);
  console.log(Object.create(client).invoke('cases.Cases/EchoWord', { text: 'c' }).message.text);
  const { close } = copy;
  close();
  try { client.invoke('cases.Cases/EchoWord', {}); } catch (error) { console.log('closed', error.message); }
}
