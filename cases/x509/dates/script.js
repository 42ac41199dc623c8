import { parse } from 'k6/crypto/x509';
const pem = open('full.pem');
export default function () {
  const { notBefore, notAfter } = parse(pem);
  console.log(typeof notBefore, new Date(notBefore).getTime() < new Date(notAfter).getTime(), (new Date(notAfter) - new Date(notBefore)) / 86400000);
}
