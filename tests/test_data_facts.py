"""The shipped knowledge bases say what they must: every figure in its section, no code too many."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

DATA = Path(__file__).resolve().parents[1] / "data"

# doc id -> (title, category, [(heading, strings that stand in the section's text)])
HELPCENTER: dict[str, tuple[str, str, list[tuple[str, list[str]]]]] = {
    "kb-001": (
        "套餐与价格",
        "套餐与计费",
        [
            (
                "三种套餐",
                [
                    "免费版：1 个账本，每月 200 条流水，1 名成员",
                    "专业版：49 元/月，或按年付 468 元/年（折合 39 元/月）；最多 5 个账本，流水不限，最多 3 名成员，支持多币种",
                    "企业版：199 元/月，或按年付 1908 元/年；账本与成员不限",
                    "开放 API、专属客服和增值税专用发票",
                ],
            ),
            ("怎么选", ["个人记账选免费版", "选专业版", "要对接自有系统，或者成员超过 3 人，选企业版"]),
        ],
    ),
    "kb-002": (
        "退款政策",
        "退款",
        [
            (
                "年付套餐",
                [
                    "剩余的整月数比例",
                    "当月不退",
                    "468 元",
                    "每月 39 元",
                    "第 3 个月",
                    "剩余 9 个月",
                    "351 元",
                ],
            ),
            ("月付套餐", ["不支持中途退款", "当期结束时停止", "不再续费", "当期费用不退"]),
            ("重复扣款", ["全额退还重复的一笔", "3 个工作日内原路退回"]),
            (
                "审批与到账",
                ["所有退款都须经客服主管审批", "原路退回", "支付宝 1-3 个工作日", "银行卡 3-7 个工作日"],
            ),
        ],
    ),
    "kb-003": (
        "如何申请退款",
        "退款",
        [
            ("操作步骤", ["设置 → 订阅 → 申请退款", "1 个工作日内", "客服主管", "《退款政策》"]),
            ("已经开了发票怎么办", ["先红冲（作废）发票，再退款", "当天完成", "对方配合退回", "红字信息表"]),
        ],
    ),
    "kb-004": (
        "自动续费与扣款规则",
        "套餐与计费",
        [
            ("什么时候扣款", ["自动续费", "到期前 3 天扣款"]),
            (
                "扣款失败",
                [
                    "每 24 小时重试一次",
                    "最多重试 3 次",
                    "7 天宽限期",
                    "降为免费版",
                    "保留 90 天",
                    "补缴后恢复",
                ],
            ),
        ],
    ),
    "kb-005": (
        "升级与降级",
        "套餐与计费",
        [
            ("升级", ["立即生效", "剩余天数折算"]),
            (
                "降级",
                ["当前计费周期结束后生效", "不退差价", "只读", "5 个账本中 1 个可以编辑，其余 4 个只读"],
            ),
        ],
    ),
    "kb-006": (
        "发票类型与开具",
        "发票",
        [
            ("可以开哪种发票", ["所有付费订单都可以开电子普票", "仅企业版或年付专业版"]),
            (
                "怎么申请",
                ["付款后 90 天内", "账单 → 发票", "抬头和税号", "1-2 个工作日", "邮箱", "超过 90 天"],
            ),
        ],
    ),
    "kb-007": (
        "修改发票抬头",
        "发票",
        [
            (
                "开错了怎么办",
                [
                    "开具后 30 天内",
                    "账单 → 发票",
                    "红冲重开",
                    "只能重开一次",
                    "超过 30 天",
                    "加盖公章的情况说明",
                ],
            )
        ],
    ),
    "kb-008": (
        "优惠码使用规则",
        "套餐与计费",
        [
            ("使用方法", ["结算页", "每单只能用一个", "不能叠加", "不适用于企业版"]),
            ("退款时怎么算", ["按实付金额退", "不退现金"]),
        ],
    ),
    "kb-009": (
        "导入银行流水",
        "数据导入导出",
        [
            (
                "支持的格式",
                ["CSV 与 XLSX", "10 MB", "5 万行", "工商银行、招商银行、建设银行", "自动识别", "模板"],
            ),
            ("模板字段", ["四列：日期、金额、对方户名、摘要", "YYYY-MM-DD", "支出的金额填负数"]),
        ],
    ),
    "kb-010": (
        "错误码 E1042:银行流水导入失败",
        "错误码",
        [
            ("原因", ["E1042", "列名与模板不匹配", "YYYY-MM-DD", "2026/10/1", "Excel"]),
            ("解决办法", ["最新模板", "「文本」", "重新填写日期后再导入"]),
        ],
    ),
    "kb-011": (
        "错误码 E1043:文件编码错误",
        "错误码",
        [
            ("原因", ["E1043", "不是 UTF-8", "默认用 GBK"]),
            ("解决办法", ["另存为 → CSV UTF-8(逗号分隔)", "直接上传 XLSX"]),
        ],
    ),
    "kb-012": (
        "错误码 E2017:发票识别失败",
        "错误码",
        [
            ("原因", ["E2017", "模糊", "短边小于 1000 像素", "PDF 有密码"]),
            ("解决办法", ["清晰的照片", "原始 PDF", "先去掉密码", "手动录入"]),
        ],
    ),
    "kb-013": (
        "错误码 E3001:支付失败",
        "错误码",
        [
            ("原因", ["E3001", "支付渠道拒绝", "余额不足", "单笔限额", "银行风控"]),
            ("解决办法", ["换一张卡", "支付宝", "连续 5 次", "锁定支付 1 小时"]),
        ],
    ),
    "kb-014": (
        "导出数据和报表",
        "数据导入导出",
        [
            ("导出格式", ["CSV", "Excel", "PDF 报表"]),
            (
                "次数限制",
                [
                    "免费版每天可以导出 1 次",
                    "专业版与企业版每天 20 次",
                    "超过 10 万行",
                    "异步生成",
                    "7 天内有效",
                ],
            ),
        ],
    ),
    "kb-015": (
        "团队成员与权限",
        "团队与权限",
        [
            ("角色", ["管理员：管理账单与成员", "记账员：可以新增和修改流水", "只读成员：只能查看与导出"]),
            ("人数上限", ["免费版 1 名成员，专业版最多 3 名成员，企业版不限"]),
            ("邀请成员", ["设置 → 团队", "邀请链接", "7 天内有效", "过期后重新生成"]),
        ],
    ),
    "kb-016": (
        "账号安全与两步验证",
        "账号与安全",
        [
            ("两步验证", ["短信验证码", "验证器 App", "建议开启"]),
            ("更换手机号", ["设置 → 账号", "旧手机号接收验证码", "人工审核", "身份证明", "2 个工作日"]),
        ],
    ),
    "kb-017": (
        "注销账号",
        "账号与安全",
        [
            ("注销流程", ["设置 → 账号 → 注销账号", "30 天冷静期", "可以撤销", "须先取消"]),
            ("数据处理", ["30 天后永久删除", "不可恢复"]),
        ],
    ),
    "kb-018": (
        "数据安全与备份",
        "账号与安全",
        [
            ("数据存在哪", ["中国大陆的杭州数据中心", "TLS"]),
            ("备份", ["每天自动备份", "保留 30 天", "企业版误删", "500 元/次", "其他套餐不提供"]),
        ],
    ),
    "kb-019": (
        "开放 API",
        "开发者",
        [
            ("谁能用", ["仅企业版", "设置 → 开发者", "API Key"]),
            ("速率限制", ["每个 API Key 每分钟最多请求 60 次", "HTTP 429", "E4029", "等一分钟"]),
        ],
    ),
    "kb-020": (
        "多币种记账",
        "套餐与计费",
        [
            ("支持范围", ["专业版与企业版", "30 种货币"]),
            ("汇率", ["每天 8 点更新", "中国银行外汇牌价", "手动改汇率"]),
        ],
    ),
}
NOVASHOP: dict[str, list[list[str]]] = {
    "returns-cn": [
        ["签收后 7 个自然日内", "无理由退货"],
        ["未使用", "包装完整", "配件与购买凭证齐全"],
        ["质量问题", "运费由 NovaShop 承担", "收货后 3 个工作日内原路退款"],
        ["尺码、喜好等个人原因", "运费由买家承担"],
        ["特价清仓与定制商品不支持无理由退货"],
        ["运输途中损坏", "可以申请换货"],
    ],
    "shipping-policy": [["标准配送", "付款后 1-3 个工作日发货", "偏远地区可能延长"]],
    "size-guide": [["NovaTrail X2", "M 码（NS-X2-BLK-M）", "L 码（NS-X2-BLK-L）", "尺码表", "脚长"]],
}
# A figure that stands nowhere in its facts stands nowhere in its text.
HELPCENTER_FIGURES = frozenset(
    {1, 2, 3, 4, 5, 7, 8, 9, 10, 20, 24, 30, 39, 49, 60, 90, 199, 200, 351, 429, 468, 500, 1000}
    | {1042, 1043, 1908, 2017, 2026, 3001, 4029}
)


def read(path: Path) -> tuple[dict[str, str], str]:
    _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.load(front, Loader=yaml.BaseLoader), body


def sections(body: str) -> list[tuple[str, str]]:
    parts = re.split(r"^## (.+)$", body, flags=re.M)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def test_helpcenter_has_twenty_articles_and_forty_two_sections() -> None:
    paths = sorted((DATA / "helpcenter").glob("*.md"))
    assert [path.stem for path in paths] == sorted(HELPCENTER)
    assert sum(len(sections(read(path)[1])) for path in paths) == 42


@pytest.mark.parametrize("doc_id", sorted(HELPCENTER))
def test_article_states_its_facts_in_their_section(doc_id: str) -> None:
    front, body = read(DATA / "helpcenter" / f"{doc_id}.md")
    title, category, expected = HELPCENTER[doc_id]
    assert (front["id"], front["title"], front["category"]) == (doc_id, title, category)
    assert re.findall(r"^# (.+)$", body, flags=re.M) == [title]
    assert body.split("## ")[0].strip() == f"# {title}"
    found = sections(body)
    assert [heading for heading, _ in found] == [heading for heading, _ in expected]
    for (heading, text), (_, facts) in zip(found, expected, strict=True):
        assert [fact for fact in facts if fact not in text] == [], heading


@pytest.mark.parametrize("doc_id", sorted(NOVASHOP))
def test_shop_document_states_its_clauses_in_order(doc_id: str) -> None:
    front, body = read(DATA / "novashop" / f"{doc_id}.md")
    assert front["id"] == doc_id
    found = sections(body)
    assert len(found) == len(NOVASHOP[doc_id])
    for (heading, text), facts in zip(found, NOVASHOP[doc_id], strict=True):
        assert [fact for fact in facts if fact not in heading + text] == [], heading


def test_no_figure_stands_in_the_helpcenter_that_is_not_a_fact() -> None:
    for path in (DATA / "helpcenter").glob("*.md"):
        _, body = read(path)
        assert set(map(int, re.findall(r"\d+", body))) <= HELPCENTER_FIGURES, path.name


def test_error_codes_stand_only_where_they_belong() -> None:
    where: dict[str, set[str]] = {}
    for path in (DATA / "helpcenter").glob("*.md"):
        _, body = read(path)
        for number, (_, text) in enumerate(sections(body), 1):
            for code in re.findall(r"[A-Z]{1,3}-?\d{3,}", text):
                where.setdefault(code, set()).add(f"{path.stem}#{number}")
    assert where == {
        "E1042": {"kb-010#1"},
        "E1043": {"kb-011#1"},
        "E2017": {"kb-012#1"},
        "E3001": {"kb-013#1"},
        "E4029": {"kb-019#2"},
    }


def test_only_the_size_guide_names_skus() -> None:
    for path in (DATA / "novashop").glob("*"):
        skus = sorted(set(re.findall(r"NS-[A-Z0-9-]+", path.read_text(encoding="utf-8"))))
        assert skus == (["NS-X2-BLK-L", "NS-X2-BLK-M"] if path.name == "size-guide.md" else []), path.name


def test_helpcenter_never_mentions_wechat_pay() -> None:
    assert not any("微信" in path.read_text(encoding="utf-8") for path in (DATA / "helpcenter").glob("*.md"))
