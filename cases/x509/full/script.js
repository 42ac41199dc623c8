import { parse } from 'k6/crypto/x509';
const pem = open('full.pem');
export default function () {
  const certificate = parse(pem);
  console.log(Object.keys(certificate).sort().join());
  for (const side of ['subject', 'issuer']) for (const key of Object.keys(certificate[side]).sort()) console.log(side, key, JSON.stringify(certificate[side][key]));
}
