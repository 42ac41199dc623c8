import x509, { parse, getAltNames, getIssuer, getSubject } from 'k6/crypto/x509';
const files = {};
for (const name of ['rsa', 'ec', 'ec5', 'ed', 'pss']) files[name] = open(`./${name}.pem`);
const text = (key, value) => (typeof value === 'bigint' ? 'big ' + value : value);
function attempt(name, body) {
  try { console.log(name, JSON.stringify(body(), text)); } catch (e) { console.log(name, 'threw'); }
}
export default function () {
  console.log(Object.keys(x509).sort().join());
  for (const name of Object.keys(files)) {
    attempt(name, () => parse(files[name]));
    attempt(name, () => [getAltNames(files[name]), getIssuer(files[name]), getSubject(files[name])]);
  }
  attempt('two', () => parse(files.ec + files.rsa).subject.commonName);
  attempt('another label', () => parse(files.ec.replaceAll('CERTIFICATE', 'OTHER')).subject.commonName);
  for (const wrong of ['', 'text', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', undefined, null, 5]) attempt('wrong', () => parse(wrong));
}
