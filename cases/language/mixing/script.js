export default function () { console.log(typeof module); module.exports = 1; }
