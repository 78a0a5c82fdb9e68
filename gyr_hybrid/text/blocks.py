"""Interim: blocks of a section by line."""
from __future__ import annotations
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
Kind = Literal["heading", "prose", "item", "header", "row", "code", "quote", "head", "question", "answer"]
@dataclass(frozen=True, slots=True)
class Block:
    kind: Kind
    start: int
    end: int
    text: str
    places: tuple[int, ...]
    under: int | None
    cells: tuple[tuple[int, int], ...] = ()
    level: int = 0
_ITEM = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.、)）]\s*|[(（]\d{1,2}[)）]\s*|[①-⑳]\s*)")
def read_blocks(text: str, *, plain: bool = False) -> tuple[Block, ...]:
    out: list[Block] = []; at = 0; lead=None; top=None; head=None; fence=None
    lines=text.splitlines(keepends=True)
    def add(kind,s,e,b,under,cells=()):
        raw=text[b:e]; keep=[i for i,c in enumerate(raw) if c not in "*`"]
        out.append(Block(kind,s,e,"".join(raw[i] for i in keep),tuple(b+i for i in keep),under,cells)); return len(out)-1
    i=0
    while i < len(lines):
        l=lines[i]; s=at; e=at+len(l.rstrip()); at+=len(l); i+=1
        if not l.strip(): continue
        if l.lstrip().startswith(("```","~~~")):
            b=at; m=l.lstrip()[:3]
            while i<len(lines) and not lines[i].lstrip().startswith(m): at+=len(lines[i]); i+=1
            be=at
            if i<len(lines): at+=len(lines[i]); i+=1
            raw=text[b:be].rstrip("\n"); out.append(Block("code",s,at-(text[at-1]=="\n"),raw,tuple(range(b,b+len(raw))),lead if lead is not None else top)); continue
        m=re.match(r"#+\s*",l)
        if m: top=add("heading",s,e,s+m.end(),None); lead=None; continue
        if l.lstrip().startswith("|"):
            if re.fullmatch(r"[|\s:-]+",l): continue
            spans=[];parts=[];pl=[];pos=s+l.index("|")+1; cells=[]
            t=""
            for cell in l.strip().strip("|").split("|"):
                a=pos+len(cell)-len(cell.lstrip()); c=cell.strip()
                if t: t+=" | "; pl+= [a,a,a]
                cells.append((len(t),len(t)+len(c))); t+=c; pl+=range(a,a+len(c)); pos+=len(cell)+1
            hdr = i<len(lines) and re.fullmatch(r"[|\s:-]+",lines[i]) is not None
            k="header" if hdr else "row"
            out.append(Block(k,s,e,t,tuple(pl),(lead if lead is not None else top) if hdr else head,tuple(cells)))
            if hdr: head=len(out)-1
            continue
        head=None
        m=_ITEM.match(l)
        if m and m.end()<len(l.rstrip()): add("item",s,e,s+m.end(),lead if lead is not None else top); continue
        n=add("prose",s+len(l)-len(l.lstrip()),e,s+len(l)-len(l.lstrip()),top); lead=n if l.rstrip().endswith((":","：")) else None
    return tuple(out)
def standing_under(blocks: Sequence[Block], index: int) -> tuple[int, ...]:
    chain=[]; at=blocks[index].under
    while at is not None: chain.append(at); at=blocks[at].under
    return tuple(reversed(chain))
