export default function () { open('./a.txt'); }
