import grpc from 'k6/net/grpc';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
const client = new grpc.Client();
client.load([__ENV.CERTS], 'cases.proto');
export default function () {
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  const stream = new grpc.Stream(client, 'cases.Cases/Chat');
  console.log(Object.keys(stream).join());
  const { on, write, end } = stream;
  on('data', (message) => console.log('data', message.text));
  on('end', () => { console.log('end'); client.close(); });
  write({ text: 'x' });
  end();
  const response = client.invoke('cases.Cases/EchoWord', { text: 'a' });
  console.log(Object.keys(response).join(), Object.keys({ ...response }).length);
}
