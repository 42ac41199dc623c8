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
  show('client', client);
  console.log('invoke' in client, client.hasOwnProperty('invoke'), client.propertyIsEnumerable('connect'), 'nothing' in client);
  client.connect(__ENV.BASE.slice('http://'.length), { plaintext: true });
  show('connected', client);
  client.close();
}
