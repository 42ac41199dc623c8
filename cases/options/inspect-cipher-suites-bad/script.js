export const options = { tlsCipherSuites: ['TLS_OWN'] };
export default function () {}
