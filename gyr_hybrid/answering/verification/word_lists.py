"""Word lists of the checks: grammar, words that add little, parties and roles."""

from __future__ import annotations

FUNCTION_WORDS = frozenset(
    """第 单次 every 的 地 得 予 了 着 过 是 为 在 于 由 从 自 到 至 与 和 及 或 或者 以及 并 并且 且 而 而且 则 就 便 即 还 又 再 将 把 被 给 让 使 对 对于 向 跟 同 以 按
    按照 根据 依据 依照 通过 经 经过 用 进行 其 该 此 这 那 这些 那些 这个 那个 这样 那样 它 它们 他 她 他们 我 我们 您 你 你们 者 所 之 等 等等 个 一个 上 下 里 里面 里头 中
    时 时候 期间 这期间 如果 若 如 当 只要 才 方 方可 才能 需 需要 须 必须 应 应当 应该 要 可 可以 能 能够 会 不 未 没 没有 无 非 吗 呢 啊 吧 也 都 不过 但 但是 因 因为 由于 所以
    因此 故 情况 情形 的话 表示 意思 指 说明 意味着 意思是 有 作为 请 目前 现在 已 已经 均 各 另 另外 其中 就是 也就是 来 去 做 关于 有关 那么 然后 而言 来说 分别 即可 就行 行 起来 出来 一下
    否则 不然 otherwise 是否 有没有 别 勿 不要 不用 不会 不能 不可 不可以 不得 不必 无须 无需 不需 不需要 无法 不再 不是 仍 仍然 可能 一种 哪 什么 某 某个 些 一些 种 名 位 次 条 个月 起 止 间 内 外 前 后 之前 之后 以前 以后
    提前 还有 显示 出现 遇到 碰到 计算 收取 收 状态码 多 才能 方能 如遇 凡 凡是 上面 下面 那边 这边 当中 之中 均为 都是 也是 则是 就会 就能 会被 每 之间 之内 以内 每个 最 最多 最少 至多 至少 最高 最低 不超过 不少于 不低于 超过 以上 以下 左右 约 大约 只 仅 只能 仅限 只有 满 达到 不足 不满 未满 不到
    啦 呀 哦 嘛 么 咱 咱们 您的 你的 它的 其他 其它 即使 例如 比如 除 除了 外 先 同时 此外 以 向 往 朝 其实 本 该 每次 算 呈 令 便是 共 共有 一共 总共 合计 共计 为止 当中 如下 以下 上述 前述 一
    a an the of to in on at by for with from as and or but nor so than then that this these those there it its is are was were be been being am
    do does did done have has had having will would shall should can could may might must not no n't you your yours we our ours they them their he she his her i me my us one
    if when while which who whom whose what where how also just only very too such into onto over under up out off about per each any all both some more most other
    within after before during until between through upon against without via because since once again further here own s t re ve ll d m get gets got come comes go goes let lets make makes take takes
    cannot can't won't don't doesn't isn't aren't wasn't weren't shouldn't mustn't yes please there's it's that's let's means mean""".split()
)
"""Words without content of their own. Negation, modality, universality and limits among them have checks of their own."""

LIGHT_WORDS = frozenset(
    """人 范围 上限 下限 限度 金额 数额 数量 时间 期限 时长 方式 方法 规定 标准 要求 条件 规则 内容 结果 服务 额度 保额 费用 款项 方面 程度 水平 状态 状态码 资格 手续 流程 步骤 操作 问题
    事项 事情 部分 环节 阶段 过程 阶段 进度 功能 产品 商品 设备 系统 页面 界面 信息 数据 记录 内部 名下 本人 自己 对方 地方 人员 双方 一方 公司 单位 机构 用户 客户 员工 顾客 成员
    具体 相应 相关 对应 所需 实际 正常 通常 一般 直接 统一 分别 依次 同样 单独 另行 额外 之间 总共 整个 完整 现有 当前 最终 最后 首先 然后 接着 其次 此时 届时 到时
    折合 折算 折 相当于 等于 平均 共需 相差 打 得到 收到 进行 办理 处理 完成 提供 采用 使用 执行 实行 给予 予以 加以 作出 做出 开始 继续 起效 生效 适用 涉及 包括 包含 对待 视为 算作 算是 属于 称为 叫做 列为 成为 变成 变为 写明 标明 注明 规定为 表明
    能够 得以 允许 可供 供 享受 享有 拥有 具有 具备 选择 获得 取得 继续 负责 机会 设 设为 设置 完 好 成 long 带 带有 附带 配有 配备 设有 到 放 带来 进入 来自 位于 处于
    收费 价格 cost costs fee price priced
    status code value kind type way amount level period time number size rate charge charged return returned apply applies applied allow allows allowed possible available
    重量 温度 面积 年龄 天数 单个 报 总费用 总额 总价 整体 display displayed shows show still same 拿 干 做 弄 持
    last lasts
    given happens happen stands stand works work able set gets made used using use total case back customer customers user users people person you""".split()
)
"""Words that add next to nothing to a clause that is otherwise the source's own."""

ADDRESSEES = frozenset(
    "客人 旅客 乘客 顾客 游客 住客 读者 学员 纳税人 申请人 持卡人 使用者 购买者 市民 居民 参会者".split()
)
"""Whom a document speaks to: a sentence may name them where the source leaves its subject unsaid."""

GENERAL_ROLES = frozenset(
    "套餐 用户 客户 顾客 员工 成员 会员 人员 公司 单位 机构 本人 对方 双方 一方 当事人 个人 他人 自己 名人 工人 前者 后者 或者 作者".split()
)
"""Words for people and bodies in general, which may be added but not put in another's place."""

ROLES = frozenset(
    """user users customer custom client owner admin administr agent member guest viewer editor employe employee employer contractor manag manager staff
    student teacher buyer seller landlord tenant lender borrow supplier vendor doctor nurs patient parent child insurer insur author driver passeng
    team reviewer moder maintain operator parti recipient sender issuer carrier shipper consigne sender courier agenc holder tourist operator merchant bank compani hr librarian reader undergradu postgradu""".split()
)
"""Stems of English words for parties and roles."""
