import http from 'k6/http';
const address = __ENV.BASE.slice('http://'.length);
export const options = { hosts: { 'named.test': address, '*.wild.test': '127.0.0.1' } };
export default function () {
  console.log(http.get('http://named.test/get').status);
  console.log(http.get(`http://any.wild.test:${address.split(':')[1]}/get`, { tags: { name: 'wild' } }).status);
}
