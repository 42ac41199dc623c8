export default function () { const a = { name: 'a' }; a.self = a; console.log(a); const l = [1]; l.push(l); console.log(l); console.log({ toJSON() { return 'from toJSON'; } }); }
